package dev.idempotent.idempotency.method;

import java.io.InputStream;
import java.time.Instant;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

import dev.idempotent.aop.AnnotatedMethod;
import dev.idempotent.idempotency.CanonicalForm;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.canonical.CanonicalValues;
import jakarta.servlet.http.HttpSession;
import org.apache.kafka.clients.consumer.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.web.multipart.MultipartFile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verifyNoInteractions;

/**
 * Tests for {@link MethodArguments}.
 */
class MethodArgumentsTests {

	private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

	private static final Instant ONE = Instant.parse("2026-01-01T13:00:00Z");

	@Test
	void areEqualIfTheirValuesAre() {
		assertThat(fingerprint("place", new Event("1", NOON), 1))
			.isEqualTo(fingerprint("place", new Event("1", NOON), 1));
	}

	@Test
	void differInAnyValueAndItsPosition() {
		assertThat(new Fingerprint[] { fingerprint("any", new Event("1", NOON), 1),
				fingerprint("any", new Event("1", ONE), 1), fingerprint("any", new Event("1", NOON), 2),
				fingerprint("any", 1, new Event("1", NOON)), fingerprint("any", null, 1), fingerprint("any", 1, null),
				fingerprint("any", "null", 1), fingerprint("any", null, null) })
			.doesNotHaveDuplicates();
	}

	/**
	 * As the next release of the application would compare calls of the last one.
	 */
	@ParameterizedTest
	@CsvSource({ "place, renamed", "place, withOneMoreParameter", "place, withOneMoreMember" })
	void areEqualInTheNextReleaseIfItOnlyAddsAndRenames(String before, String after) {
		assertThat(fingerprint(
				after, after.equals("withOneMoreMember")
						? new EventOfNextRelease("1", NOON, null, false, Optional.empty()) : new Event("1", NOON),
				1, null, 0))
			.isEqualTo(fingerprint(before, new Event("1", NOON), 1));
	}

	@Test
	void compareWhatTheNextReleaseAddsIfItIsSent() {
		assertThat(fingerprint("withOneMoreMember", new EventOfNextRelease("1", NOON, null, true, Optional.empty()), 1))
			.isNotEqualTo(fingerprint("place", new Event("1", NOON), 1));
		assertThat(fingerprint("withOneMoreParameter", new Event("1", NOON), 1, "gift", 0))
			.isNotEqualTo(fingerprint("place", new Event("1", NOON), 1));
	}

	@Test
	void areEqualIfOnlyIgnoredValuesDiffer() {
		assertThat(fingerprint("ignoring", new Event("1", NOON), 1))
			.isEqualTo(fingerprint("ignoring", new Event("1", ONE), 2))
			.isNotEqualTo(fingerprint("ignoring", new Event("2", NOON), 1));
	}

	@Test
	void areAlwaysEqualIfEverythingIsIgnored() {
		assertThat(fingerprint("ignoringAll", new Event("1", NOON), new ReentrantLock()))
			.isEqualTo(fingerprint("ignoringAll", "other", 2));
		assertRefused("ignoringAllAndMore", "must be the only entry");
	}

	@Test
	void mustBeComparableUnlessTheyAreIgnored() {
		assertThat(fingerprint("ignoringAttempt", "e", new ReentrantLock()))
			.isEqualTo(fingerprint("ignoringAttempt", "e", new ReentrantLock()));
		assertThatIllegalArgumentException().isThrownBy(() -> fingerprint("any", "e", new ReentrantLock()))
			.withMessageContainingAll("'attempt'", "any", "cannot be compared with that of a retry",
					"ReentrantLock is a class of the JDK", "'ignore'", "CanonicalForm");
	}

	@Test
	void areRefusedAtTheStartIfTheirDeclaredTypeCannotBeCompared() {
		assertRefused("stream", "'file'", "InputStream is a class of the JDK");
		assertRefused("iterator", "'rows'", "Iterator is a class of the JDK");
		assertRefused("nested", "the member 'lock' of MethodArgumentsTests$Nested", "ReentrantLock");
		assertRefused("empty", "$Empty has no fields");
	}

	@Test
	void cannotBeFilesAndSessions() {
		assertRefused("upload", "'file'", "whose content cannot be seen");
		assertRefused("session", "'session'", "whose content cannot be seen");
	}

	@Test
	void cannotIgnoreUnknownParametersAndMembers() {
		assertRefused("ignoringMembersOfAList", "there is no member '/events/sentAt'");
		assertRefused("ignoringUnknown", "there is no parameter 'evnt', only [event, attempt]");
		assertRefused("ignoringUnknownPointer", "there is no parameter 'sentAt'");
		assertRefused("ignoringUnknownMember", "there is no member '/event/snetAt'");
	}

	@Test
	void leaveOutWhatTheFrameworkPasses() {
		Acknowledgment acknowledgment = mock(Acknowledgment.class);
		Consumer<?, ?> consumer = mock(Consumer.class);
		assertThat(fingerprint("listen", "e", acknowledgment, consumer))
			.isEqualTo(fingerprint("listen", "e", null, null));
		verifyNoInteractions(acknowledgment, consumer);
	}

	@Test
	void areComparedAsTheirDeclaredForm() {
		CanonicalValues values = new CanonicalValues(
				List.of(CanonicalForm.of(ReentrantLock.class, ReentrantLock::isFair)));
		MethodArguments any = new MethodArguments(method("any"), new String[0], values, "");
		assertThat(any.fingerprint(new Object[] { new ReentrantLock(true), 1 }))
			.isEqualTo(any.fingerprint(new Object[] { new ReentrantLock(true), 1 }))
			.isNotEqualTo(any.fingerprint(new Object[] { new ReentrantLock(false), 1 }));
	}

	private static void assertRefused(String method, String... parts) {
		assertThatIllegalArgumentException().isThrownBy(() -> arguments(method)).withMessageContainingAll(parts);
	}

	private static Fingerprint fingerprint(String method, @Nullable Object... all) {
		return arguments(method).fingerprint(Arrays.copyOf(all, method(method).method().getParameterCount()));
	}

	private static MethodArguments arguments(String method) {
		AnnotatedMethod annotated = method(method);
		return new MethodArguments(annotated, IdempotentMethodAdvisor.annotationOf(annotated).ignore(),
				new CanonicalValues(List.of()), "List it in 'ignore', or declare a CanonicalForm");
	}

	private static AnnotatedMethod method(String name) {
		return AnnotatedMethod.findAll(Idempotent.class, Methods.class)
			.stream()
			.filter((method) -> method.method().getName().equals(name))
			.findFirst()
			.orElseThrow();
	}

	record Event(String id, Instant sentAt) {
	}

	record EventOfNextRelease(String id, Instant sentAt, @Nullable String note, boolean gift,
			Optional<String> voucher) {
	}

	record Nested(String id, ReentrantLock lock) {
	}

	static final class Empty {

	}

	static class Methods {

		@Idempotent
		void any(Object event, Object attempt) {
		}

		@Idempotent
		void place(Event event, int attempt) {
		}

		@Idempotent
		void renamed(Event order, int number) {
		}

		@Idempotent
		void withOneMoreParameter(Event event, int attempt, @Nullable String note, int count) {
		}

		@Idempotent
		void withOneMoreMember(EventOfNextRelease event, int attempt) {
		}

		@Idempotent(ignore = { "attempt", "/event/sentAt" })
		void ignoring(Event event, int attempt) {
		}

		@Idempotent(ignore = "*")
		void ignoringAll(Object event, Object attempt) {
		}

		@Idempotent(ignore = { "*", "event" })
		void ignoringAllAndMore(Object event, Object attempt) {
		}

		@Idempotent(ignore = "attempt")
		void ignoringAttempt(Object event, Object attempt) {
		}

		@Idempotent(ignore = "evnt")
		void ignoringUnknown(Event event, int attempt) {
		}

		@Idempotent(ignore = "/sentAt")
		void ignoringUnknownPointer(Event event, int attempt) {
		}

		@Idempotent(ignore = "/event/snetAt")
		void ignoringUnknownMember(Event event, int attempt) {
		}

		@Idempotent
		void upload(MultipartFile file) {
		}

		@Idempotent
		void session(HttpSession session) {
		}

		@Idempotent(ignore = "/events/sentAt")
		void ignoringMembersOfAList(List<Event> events) {
		}

		@Idempotent
		void stream(InputStream file) {
		}

		@Idempotent
		void iterator(Iterator<String> rows) {
		}

		@Idempotent
		void nested(List<Nested> all) {
		}

		@Idempotent
		void empty(Empty empty) {
		}

		@Idempotent
		void listen(String event, Acknowledgment acknowledgment, Consumer<?, ?> consumer) {
		}

	}

}
