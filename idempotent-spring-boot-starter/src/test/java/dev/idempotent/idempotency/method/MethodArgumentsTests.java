package dev.idempotent.idempotency.method;

import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

import dev.idempotent.idempotency.Fingerprint;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link MethodArguments}.
 */
class MethodArgumentsTests {

	private static final List<String> NAMES = List.of("event", "attempt");

	private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

	private static final Instant ONE = Instant.parse("2026-01-01T13:00:00Z");

	@Test
	void areEqualIfTheirJsonIsEquivalent() {
		assertThat(fingerprint(new Event("1", NOON), 1)).isEqualTo(fingerprint(new Event("1", NOON), 1))
			.isEqualTo(fingerprint(Map.of("sentAt", NOON.toString(), "id", "1"), 1.0));
	}

	@Test
	void differInAnyValueAndItsPosition() {
		assertThat(new Fingerprint[] { fingerprint(new Event("1", NOON), 1), fingerprint(new Event("1", ONE), 1),
				fingerprint(new Event("1", NOON), 2), fingerprint(1, new Event("1", NOON)), fingerprint(null, 1),
				fingerprint("null", 1) })
			.doesNotHaveDuplicates();
	}

	@Test
	void areEqualIfOnlyIgnoredValuesDiffer() {
		String[] ignored = { "attempt", "/event/sentAt" };
		assertThat(fingerprint(ignored, new Event("1", NOON), 1))
			.isEqualTo(fingerprint(ignored, new Event("1", ONE), 2))
			.isNotEqualTo(fingerprint(ignored, new Event("2", NOON), 1));
	}

	@Test
	void areAlwaysEqualIfEverythingIsIgnored() {
		String[] ignored = { "*" };
		assertThat(fingerprint(ignored, new Event("1", NOON), new Unwritable()))
			.isEqualTo(fingerprint(ignored, "other", 2));
		assertThatIllegalArgumentException().isThrownBy(() -> new MethodArguments(NAMES, new String[] { "*", "event" }))
			.withMessageContaining("must be the only entry");
	}

	@Test
	void mayBeUnwritableIfTheyAreIgnored() {
		String[] ignored = { "attempt" };
		assertThat(fingerprint(ignored, "e", new Unwritable())).isEqualTo(fingerprint(ignored, "e", new Unwritable()));
		assertThatIllegalArgumentException().isThrownBy(() -> fingerprint("e", new Unwritable()))
			.withMessageContainingAll("'attempt'", "cannot be written as JSON", "'ignore'");
	}

	@Test
	void cannotIgnoreUnknownParameters() {
		assertThatIllegalArgumentException().isThrownBy(() -> new MethodArguments(NAMES, new String[] { "evnt" }))
			.withMessage("there is no parameter 'evnt', only [event, attempt]");
		assertThatIllegalArgumentException().isThrownBy(() -> new MethodArguments(NAMES, new String[] { "/sentAt" }))
			.withMessageContaining("there is no parameter 'sentAt'");
		assertThatIllegalArgumentException().isThrownBy(() -> new MethodArguments(NAMES, new String[] { "/" }));
		assertThatIllegalArgumentException().isThrownBy(() -> new MethodArguments(NAMES, new String[] { "" }));
	}

	private static Fingerprint fingerprint(@Nullable Object event, @Nullable Object attempt) {
		return fingerprint(new String[0], event, attempt);
	}

	private static Fingerprint fingerprint(String[] ignored, @Nullable Object event, @Nullable Object attempt) {
		return new MethodArguments(NAMES, ignored).fingerprint(Arrays.asList(event, attempt).toArray(),
				JsonMapper.shared());
	}

	record Event(String id, Instant sentAt) {
	}

	static class Unwritable {

		public Unwritable getSelf() {
			return this;
		}

	}

}
