package dev.idempotent.outbox.transaction;

import java.security.SecureRandom;
import java.time.Instant;
import java.util.UUID;

/**
 * Generates ids of events as UUIDs of version 7 (RFC 9562, 5.7). The time in them is
 * informative only.
 */
final class EventIds {

	private static final long VERSION = 0x7000L;

	private static final long VARIANT = 0x8000000000000000L;

	private static final long BELOW_VARIANT = 0x3fffffffffffffffL;

	private final SecureRandom random = new SecureRandom();

	UUID at(Instant time) {
		long high = (time.toEpochMilli() << 16) | VERSION | this.random.nextInt(0x1000);
		return new UUID(high, (this.random.nextLong() & BELOW_VARIANT) | VARIANT);
	}

}
