//! Input that nobody writes by accident.
