"""Tests of jobs that a cited loop works."""
