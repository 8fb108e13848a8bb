"""The Dataset contract: what scores must hold, and what results carry."""
