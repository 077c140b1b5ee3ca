"""What tests of the service and its client share."""
