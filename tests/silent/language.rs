//! What a script says: keys, captured values, operators, options.
