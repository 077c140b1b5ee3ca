"""Pictures and pages of diagnoses and replays."""
