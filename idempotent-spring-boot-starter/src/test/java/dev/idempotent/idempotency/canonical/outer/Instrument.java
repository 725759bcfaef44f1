package dev.idempotent.idempotency.canonical.outer;

import org.jspecify.annotations.Nullable;

/**
 * Hides the field of a class with the same simple name.
 */
@SuppressWarnings("UnusedVariable") // Fields are read by reflection.
public class Instrument extends dev.idempotent.idempotency.canonical.inner.Instrument {

	private final @Nullable String number;

	public Instrument(@Nullable String inner, @Nullable String outer) {
		super(inner);
		this.number = outer;
	}

}
