//! What a run keeps of what took part in it.
