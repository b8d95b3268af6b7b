"""What must hold of the lifecycle, the small worlds it is explored in, and the faults it must notice."""
