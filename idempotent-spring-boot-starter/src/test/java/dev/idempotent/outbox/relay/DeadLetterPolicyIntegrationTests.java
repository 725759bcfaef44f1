package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import dev.idempotent.outbox.DeadLetterPolicy;
import dev.idempotent.outbox.TestedDatabase;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Delivery with a policy that is asked before an event becomes dead.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("databases")
@ParameterizedClass(name = "{0}")
@MethodSource("dev.idempotent.outbox.TestedDatabase#postgresOrH2")
class DeadLetterPolicyIntegrationTests {

	private static final Outcome REFUSED = new Outcome.Retry("not yet", Duration.ZERO);

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Parameter
	@SuppressWarnings("NullAway.Init")
	TestedDatabase database;

	@SuppressWarnings("NullAway.Init")
	private Shop shop;

	@SuppressWarnings("NullAway.Init")
	private TestPolicy policy;

	@BeforeEach
	void open() {
		this.shop = Shop.open(this.database.properties(postgres, "dead-letters"), Shop.OFTEN, TestPolicy.class,
				"idempotent.outbox.relay.attempts=2");
		this.policy = this.shop.bean(TestPolicy.class);
	}

	@AfterEach
	void close() {
		this.shop.forgetAll();
		this.shop.close();
	}

	@Test
	void grantsOneMoreAttemptEachTime() {
		this.policy.answer = (event) -> Optional.of(Duration.ZERO);
		this.shop.broker().answer((event) -> (this.policy.asked.size() < 3) ? REFUSED : new Outcome.Delivered());
		this.shop.append("order.created");
		await().untilAsserted(() -> assertThat(this.shop.broker().types()).containsExactly("order.created"));
		await().untilAsserted(() -> assertThat(this.shop.pending()).isZero());
		assertThat(this.policy.asked).containsExactly("order.created: not yet", "order.created: not yet",
				"order.created: not yet");
		assertThat(this.shop.broker().published().get(0).attempts()).isEqualTo(2);
		assertThat(this.shop.dead()).isEmpty();
	}

	@Test
	void waitsForTheGrantedDelay() {
		this.policy.answer = (event) -> Optional.of(Duration.ofHours(1));
		this.shop.broker().answer((event) -> new Outcome.Reject("no such topic"));
		this.shop.append("order.created");
		await().untilAsserted(() -> assertThat(this.shop.waiting()).isOne());
		assertThat(this.policy.asked).containsExactly("order.created: no such topic");
		assertThat(this.shop.database().sql("select last_error from relay_event").query(String.class).single())
			.isEqualTo("no such topic");
	}

	@Test
	void isAskedOnceIfItGrantsNoAttempt() {
		this.shop.broker().answer((event) -> event.type().equals("bad") ? REFUSED : new Outcome.Delivered());
		this.shop.append("good", "bad");
		await().untilAsserted(() -> assertThat(this.shop.dead()).containsExactly("bad"));
		assertThat(this.policy.asked).containsExactly("bad: not yet");
		assertThat(this.policy.transactions).hasValue(0);
	}

	@Test
	void leavesAnEventDeadIfItThrowsAnException(CapturedOutput output) {
		this.policy.answer = (event) -> {
			throw new IllegalStateException("secret of " + event.type());
		};
		this.shop.broker().answer((event) -> new Outcome.Reject("bad"));
		this.shop.append("order.created", "order.paid");
		await()
			.untilAsserted(() -> assertThat(this.shop.dead()).containsExactlyInAnyOrder("order.created", "order.paid"));
		assertThat(output).containsOnlyOnce(
				"The DeadLetterPolicy failed with java.lang.IllegalStateException for an event of type order.created")
			.doesNotContain("secret of");
	}

	@Test
	@SuppressWarnings("NullAway")
	void spoilsNoOtherEventIfItAnswersNull() {
		this.policy.answer = (event) -> null;
		this.shop.broker()
			.answer((event) -> event.type().equals("bad") ? new Outcome.Reject("bad") : new Outcome.Delivered());
		this.shop.inTransaction((status) -> {
			this.shop.appendOrderedWithin("a", "good");
			this.shop.appendOrderedWithin("b", "bad");
			this.shop.appendOrderedWithin("c", "good");
		});
		await().untilAsserted(() -> assertThat(this.shop.ordered()).isZero());
		assertThat(this.shop.broker().types()).containsExactly("good", "good");
		assertThat(this.shop.dead()).containsExactly("bad");
	}

	@Test
	void isNotAskedForEventsThatCannotBePublished() {
		this.policy.answer = (event) -> Optional.of(Duration.ZERO);
		this.shop.leaveBehind("exhausted", 2);
		this.shop.database()
			.sql("insert into relay_event (event_id, topic, type, payload, headers) values (?, ?, 'unreadable', ?, 'x')")
			.param(UUID.randomUUID())
			.param(RecordingPublisher.TOPIC)
			.param(new byte[] { 1 })
			.update();
		await().untilAsserted(() -> assertThat(this.shop.dead()).containsExactlyInAnyOrder("exhausted", "unreadable"));
		assertThat(this.policy.asked).isEmpty();
	}

	@Test
	void holdsBackTheKeyOfAnEventThatItGrantsAnAttempt() {
		this.policy.answer = (event) -> Optional.of(Duration.ZERO);
		this.shop.broker()
			.answer((event) -> (event.type().equals("1") && this.policy.asked.size() < 3) ? REFUSED
					: new Outcome.Delivered());
		this.shop.appendOrdered("k", "1", "2", "3");
		await().untilAsserted(() -> assertThat(this.shop.ordered()).isZero());
		assertThat(this.shop.broker().types()).containsExactly("1", "2", "3");
		assertThat(this.shop.dead()).isEmpty();
	}

	@Test
	void canGrantAnyDelay() {
		List<Duration> delays = List.of(Duration.ofSeconds(-1), Duration.ofSeconds(Long.MAX_VALUE));
		this.policy.answer = (event) -> Optional.of(delays.get(this.policy.asked.size() - 1));
		this.shop.broker().answer((event) -> new Outcome.Reject("bad"));
		this.shop.append("order.created");
		await().untilAsserted(() -> assertThat(this.policy.asked).hasSize(2));
		await().untilAsserted(() -> assertThat(this.shop.waiting()).isOne());
		assertThat(this.shop.dead()).isEmpty();
	}

	static class TestPolicy implements DeadLetterPolicy {

		private final List<String> asked = new CopyOnWriteArrayList<>();

		private final AtomicInteger transactions = new AtomicInteger();

		private volatile Function<SerializedEvent, Optional<Duration>> answer = (event) -> Optional.empty();

		@Override
		public Optional<Duration> beforeDeadLetter(SerializedEvent event, String reason) {
			this.asked.add(event.type() + ": " + reason);
			this.transactions.addAndGet(TransactionSynchronizationManager.isActualTransactionActive() ? 1 : 0);
			return this.answer.apply(event);
		}

	}

}
