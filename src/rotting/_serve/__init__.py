"""The decision service, `rotting serve`: HTTP, a log of events, and a dashboard.

The log of events is the truth (`events`, `store`). An experiment's state is a fold over its events
in order (`experiment`). `book` turns requests into events, `journal` commits them in groups before
it sends answers, and `app` speaks HTTP.
"""
