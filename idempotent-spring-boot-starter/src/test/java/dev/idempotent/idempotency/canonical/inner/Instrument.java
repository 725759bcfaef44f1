package dev.idempotent.idempotency.canonical.inner;

import org.jspecify.annotations.Nullable;

/**
 * A class whose simple name another class has, too.
 */
@SuppressWarnings("UnusedVariable") // Fields are read by reflection.
public class Instrument {

	private final @Nullable String number;

	public Instrument(@Nullable String number) {
		this.number = number;
	}

}
