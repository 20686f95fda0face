"""The CloudWatch dashboard of a resolved endpoint: its graphs as data, and the body that is made of them."""
