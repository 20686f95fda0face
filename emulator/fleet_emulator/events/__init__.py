"""EventBridge: moto's rules, which also publish to topics."""
