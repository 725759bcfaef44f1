package dev.idempotent.sample.crash;

import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

import dev.idempotent.sample.crash.site.Journal;
import dev.idempotent.sample.crash.site.Journal.Death;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one customer with one key.
 */
final class KeyHistory {

	private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss.SSS")
		.withZone(ZoneId.systemDefault());

	private final String key;

	private final List<Attempt> attempts = new ArrayList<>();

	KeyHistory(String key) {
		this.key = key;
	}

	/**
	 * The key, which is also the name of the user.
	 */
	String key() {
		return this.key;
	}

	synchronized void add(Attempt attempt) {
		this.attempts.add(attempt);
	}

	synchronized List<Attempt> attempts() {
		return List.copyOf(this.attempts);
	}

	/**
	 * The final answers to the order itself, in the order in which they came.
	 */
	synchronized List<Answer> answers() {
		return this.attempts.stream()
			.filter((attempt) -> !attempt.altered())
			.map(Attempt::finalAnswer)
			.filter(Objects::nonNull)
			.toList();
	}

	boolean isAnswered() {
		return !answers().isEmpty();
	}

	/**
	 * The time from the death of an instance that was processing this key to the first
	 * final answer.
	 */
	@Nullable Heal heal(Journal journal) {
		long answered = answeredAt();
		for (Attempt attempt : attempts()) {
			Death death = journal.deathOf(attempt.life());
			if (death != null && attempt.wasInHandAt(death.at()) && answered > attempt.ended()) {
				boolean alone = journal.between(attempt.sent(), answered).isEmpty() && journal.deaths()
					.stream()
					.noneMatch(
							(other) -> !other.equals(death) && other.at() >= attempt.sent() && other.at() <= answered);
				return new Heal(answered - Math.min(death.at(), attempt.ended()), alone);
			}
		}
		return null;
	}

	/**
	 * When the first final answer came, or -1.
	 */
	synchronized long answeredAt() {
		return this.attempts.stream()
			.filter((attempt) -> !attempt.altered() && attempt.finalAnswer() != null)
			.mapToLong(Attempt::ended)
			.min()
			.orElse(-1);
	}

	/**
	 * The history, line by line, with the faults around it.
	 */
	String describe(Journal journal) {
		Map<String, String> lines = new TreeMap<>();
		List<Attempt> all = attempts();
		for (int i = 0; i < all.size(); i++) {
			Attempt attempt = all.get(i);
			put(lines, attempt.sent(), "b" + i, attempt.describe());
			Death death = journal.deathOf(attempt.life());
			if (death != null) {
				put(lines, death.at(), "a" + death.life(), death.life() + " is gone: " + death.cause());
			}
		}
		if (!all.isEmpty()) {
			journal.between(all.get(0).sent(), all.get(all.size() - 1).ended())
				.forEach((trouble) -> put(lines, trouble.from(), "a" + trouble.name(), trouble.describe()));
		}
		return "Key " + this.key + System.lineSeparator() + String.join("", lines.values());
	}

	private static void put(Map<String, String> lines, long at, String order, String text) {
		lines.put(at + order, "  " + TIME.format(Instant.ofEpochMilli(at)) + " " + text + System.lineSeparator());
	}

	/**
	 * The time until a key was answered after a death.
	 *
	 * @param millis how long
	 * @param alone whether there were no other faults meanwhile
	 */
	record Heal(long millis, boolean alone) {

	}

}
