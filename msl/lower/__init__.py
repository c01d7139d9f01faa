"""From steps to the tree of C++."""
