package dev.idempotent.outbox;

import java.time.Duration;
import java.util.UUID;

import org.jspecify.annotations.Nullable;

/**
 * What operators are told of an event that was given up: neither what it carries nor what
 * it is about.
 *
 * @param id names the event
 * @param row its row, by which pages are counted
 * @param type what has happened
 * @param topic where it was to go
 * @param attempts how many attempts it had
 * @param deadFor how long ago it was given up, by the database's clock
 * @param lastError why; {@code null} if nobody knows
 * @param payloadBytes how long its payload is
 */
public record DeadEvent(UUID id, long row, String type, String topic, int attempts, Duration deadFor,
		@Nullable String lastError, long payloadBytes) {
}
