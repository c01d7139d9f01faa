"""From a function to its text and its ast, and what can go wrong there."""
