"""Why an endpoint does not answer: what AWS shows of it, held against known symptoms."""
