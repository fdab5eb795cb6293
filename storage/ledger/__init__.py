"""Record model and tool calls: answers, budget reservations, recoveries, figures and costs."""
