"""What every other package stands on: records, locations, diagnostics, timing, the disk cache."""
