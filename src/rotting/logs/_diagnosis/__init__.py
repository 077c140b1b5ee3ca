"""Does it rot, could that be selection, use or the calendar, does rest help, what does it cost?"""
