package dev.idempotent.outbox.transaction;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxTransactionException;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.testing.FailingListener;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/**
 * Which events of a transaction are published, in the order in which they were inserted,
 * also if they are appended during or after the commit.
 */
@TestInstance(Lifecycle.PER_CLASS)
abstract class AbstractOutboxTransactionTests {

	@SuppressWarnings("NullAway.Init")
	private ConfigurableApplicationContext context;

	@BeforeAll
	void start() {
		this.context = start(List.of("idempotent.outbox.table-prefix=rules_"));
	}

	@BeforeEach
	void forget() {
		publishAll();
		publisher().published().clear();
	}

	@AfterAll
	void stop() {
		this.context.close();
	}

	@Test
	void keepsTheEventsOfACommitInTheirOrder() {
		inTransaction((outbox) -> {
			append("first");
			outbox.append(List.of(OutboxEvent.of("second", 2), OutboxEvent.of("third", 3)));
		});
		assertThat(events()).containsExactly("first", "second", "third");
	}

	@Test
	void dropsTheEventsOfARollback() {
		template(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult((status) -> {
			append("lost");
			status.setRollbackOnly();
		});
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> inTransaction((outbox) -> {
			append("lost");
			throw new IllegalStateException("work failed");
		}));
		assertThat(events()).isEmpty();
	}

	/**
	 * Spring does not roll back for a {@code TransactionException}, which it takes for
	 * one of the commit itself, and resets the connection, which commits.
	 */
	@ParameterizedTest
	@ValueSource(ints = { 0, Ordered.LOWEST_PRECEDENCE })
	void commitsNoWorkWithoutItsEventsIfACallbackBeforeTheCommitFails(int order) {
		List<RuntimeException> failures = List.of(new CannotCreateTransactionException("no connection"),
				new UnexpectedRollbackException("an inner transaction"), new IllegalStateException("any other"));
		for (RuntimeException failure : failures) {
			assertThatExceptionOfType(failure.getClass()).isThrownBy(() -> inTransaction((outbox) -> {
				database().sql("insert into rules_control (topic) values ('work')").update();
				append("lost");
				TransactionSynchronizationManager.registerSynchronization(new FailingCallback(order, failure));
			}));
			assertThat(database().sql("select topic from rules_control").query().listOfRows()).isEmpty();
		}
		assertThat(events()).isEmpty();
	}

	/**
	 * Spring does not roll back after it, and resets the connection, which commits.
	 */
	@Test
	void commitsNoWorkWithoutItsEventsIfAListenerFailsBeforeTheRollback() {
		FailingListener.of(this.context.getBean(PlatformTransactionManager.class))
			.failBeforeRollback(new IllegalArgumentException("a listener"));
		assertThatIllegalArgumentException().isThrownBy(() -> inTransaction((outbox) -> {
			database().sql("insert into rules_control (topic) values ('work')").update();
			append("lost");
			throw new IllegalStateException("work failed");
		}));
		assertThat(database().sql("select topic from rules_control").query().listOfRows()).isEmpty();
		assertThat(events()).isEmpty();
	}

	@Test
	void writesAllEventsOfATransactionTogether() {
		inTransaction((outbox) -> {
			append("first");
			append("second");
			assertThat(rows()).isZero();
		});
		assertThat(events()).hasSize(2);
	}

	@Test
	void rejectsAnEventWithoutATransaction() {
		assertThatExceptionOfType(OutboxTransactionException.class).isThrownBy(() -> append("lost"))
			.withMessageContaining("@Transactional");
		template(TransactionDefinition.PROPAGATION_SUPPORTS).executeWithoutResult(
				(status) -> assertThatExceptionOfType(OutboxTransactionException.class).isThrownBy(() -> append("lost"))
					.withMessageContaining("@Transactional"));
	}

	@Test
	void rejectsAnEventInAReadOnlyTransaction() {
		TransactionTemplate readOnly = template(TransactionDefinition.PROPAGATION_REQUIRED);
		readOnly.setReadOnly(true);
		readOnly.executeWithoutResult(
				(status) -> assertThatExceptionOfType(OutboxTransactionException.class).isThrownBy(() -> append("lost"))
					.withMessageContaining("readOnly"));
		assertThat(events()).isEmpty();
	}

	@Test
	void keepsTheEventsOfANewInnerTransaction() {
		template(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult((outer) -> {
			append("outer");
			template(TransactionDefinition.PROPAGATION_REQUIRES_NEW).executeWithoutResult((inner) -> append("inner"));
			outer.setRollbackOnly();
		});
		assertThat(events()).containsExactly("inner");
	}

	@Test
	void dropsOnlyTheEventsOfAnInnerTransaction() {
		inTransaction((outbox) -> {
			append("before");
			template(TransactionDefinition.PROPAGATION_REQUIRES_NEW).executeWithoutResult((inner) -> {
				append("lost");
				inner.setRollbackOnly();
			});
			append("after");
		});
		assertThat(events()).containsExactly("before", "after");
	}

	@Test
	void rejectsAnEventWhileTheTransactionIsSuspended() {
		inTransaction((outbox) -> template(TransactionDefinition.PROPAGATION_NOT_SUPPORTED)
			.executeWithoutResult((status) -> assertThatExceptionOfType(OutboxTransactionException.class)
				.isThrownBy(() -> append("lost"))));
		assertThat(events()).isEmpty();
	}

	@Test
	void appendsNoEventOfAFailedCall() {
		inTransaction((outbox) -> {
			assertThatIllegalArgumentException().isThrownBy(
					() -> outbox.append(List.of(OutboxEvent.of("fine", 1), OutboxEvent.of("bad", new Unwritable()))))
				.withMessageContaining("Unwritable");
			assertThatIllegalArgumentException()
				.isThrownBy(() -> outbox.append(OutboxEvent.of("bad", 1).toTopic("nowhere:orders")))
				.withMessageContaining("nowhere:orders")
				.withMessageContaining("test:");
			assertThatIllegalArgumentException()
				.isThrownBy(() -> outbox.append(OutboxEvent.of("bad", 1).withKey("k".repeat(256))))
				.withMessageContaining("256");
			assertThatIllegalArgumentException()
				.isThrownBy(() -> outbox.append(OutboxEvent.of("bad", 1).withHeader("h".repeat(256), "v")))
				.withMessageContaining("256");
		});
		assertThat(events()).isEmpty();
	}

	@Test
	void rejectsTextThatADatabaseCannotStore() {
		OutboxEvent event = OutboxEvent.of("fine", new byte[1]);
		inTransaction((outbox) -> {
			refuses("key", event.withKey("k\0"));
			refuses("type", OutboxEvent.of("t\0", 1));
			refuses("topic", event.toTopic("test:\0"));
			refuses("content-type", event.withHeader("content-type", "\0"));
			outbox.append(event.withHeader("nul", "\0"));
			for (String half : List.of("k\ud83d", "\ude00")) {
				refuses("key", event.withKey(half), "half of a character");
				refuses("type", OutboxEvent.of(half, 1), "half of a character");
				refuses("topic", event.toTopic("test:" + half), "half of a character");
			}
		});
		assertThat(events()).containsExactly("fine");
	}

	@Test
	void writesThePayloadAtTheAppend() {
		List<String> payload = new ArrayList<>(List.of("as it was"));
		inTransaction((outbox) -> {
			outbox.append(OutboxEvent.of("mutable", payload));
			payload.add("changed");
		});
		publishAll();
		assertThat(publisher().published().get(0).payload()).asString().isEqualTo("[\"as it was\"]");
	}

	@Test
	void appendsEventsBeforeTheCommit() {
		inTransaction((outbox) -> beforeCommit(() -> append("first in a late phase")));
		inTransaction((outbox) -> {
			append("early");
			beforeCommit(() -> append("second in a late phase"));
		});
		assertThat(events()).containsExactly("first in a late phase", "early", "second in a late phase");
	}

	@Test
	void dropsEventsBeforeACommitThatFails() {
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> inTransaction((outbox) -> {
			append("early");
			beforeCommit(() -> {
				append("late");
				throw new IllegalStateException("no commit");
			});
		}));
		assertThat(events()).isEmpty();
	}

	@Test
	void rejectsAnEventAfterTheCommit() {
		Refusals refusals = new Refusals(() -> append("lost"));
		inTransaction((outbox) -> {
			append("early");
			TransactionSynchronizationManager.registerSynchronization(refusals);
		});
		assertThat(refusals.messages).hasSize(2)
			.allSatisfy((message) -> assertThat(message).contains("has ended", "REQUIRES_NEW"));
		assertThat(events()).containsExactly("early");
	}

	@Test
	void appendsAnEventAfterTheCommitInANewTransaction() {
		inTransaction(
				(outbox) -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						template(TransactionDefinition.PROPAGATION_REQUIRES_NEW)
							.executeWithoutResult((status) -> append("later"));
					}

				}));
		assertThat(events()).containsExactly("later");
	}

	@Test
	void sortsNoSynchronizationForAnEvent() {
		AtomicInteger asked = new AtomicInteger();
		inTransaction((outbox) -> {
			for (int i = 0; i < 100; i++) {
				TransactionSynchronizationManager.registerSynchronization(new Counted(asked));
			}
			asked.set(0);
			append("early");
			beforeCommit(() -> {
				asked.set(0);
				append("late");
				assertThat(asked).hasValue(0);
			});
			assertThat(asked).hasValue(0);
		});
		assertThat(events()).containsExactly("early", "late");
	}

	@Test
	void appendsEventsToAResumedTransaction() {
		inTransaction((outbox) -> {
			append("before");
			template(TransactionDefinition.PROPAGATION_NOT_SUPPORTED)
				.executeWithoutResult((status) -> template(TransactionDefinition.PROPAGATION_REQUIRES_NEW)
					.executeWithoutResult((inner) -> append("inner")));
			append("after");
		});
		assertThat(events()).containsExactly("inner", "before", "after");
	}

	/**
	 * Starts an application with these properties and its own.
	 */
	abstract ConfigurableApplicationContext start(List<String> properties);

	private void refuses(String what, OutboxEvent event) {
		refuses(what, event, "NUL");
	}

	private void refuses(String what, OutboxEvent event, String reason) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.context.getBean(Outbox.class).append(event))
			.withMessageContainingAll("event's " + what, reason);
	}

	ConfigurableApplicationContext context() {
		return this.context;
	}

	JdbcClient database() {
		return this.context.getBean(JdbcClient.class);
	}

	void append(String type) {
		this.context.getBean(Outbox.class).append(OutboxEvent.of(type, "payload"));
	}

	/**
	 * The types of the published events in the order of their rows, once all have been
	 * published.
	 */
	List<String> events() {
		publishAll();
		return publisher().published()
			.stream()
			.sorted(Comparator.comparing(SerializedEvent::sequence))
			.map(SerializedEvent::type)
			.toList();
	}

	/**
	 * The number of events that this connection can see.
	 */
	private int rows() {
		return database().sql("select count(*) from rules_event").query(Integer.class).single();
	}

	private void publishAll() {
		await().until(() -> rows() == 0);
	}

	private RecordingPublisher publisher() {
		return this.context.getBean(RecordingPublisher.class);
	}

	void inTransaction(Consumer<Outbox> work) {
		template(TransactionDefinition.PROPAGATION_REQUIRED)
			.executeWithoutResult((status) -> work.accept(this.context.getBean(Outbox.class)));
	}

	TransactionTemplate template(int propagation) {
		TransactionTemplate template = new TransactionTemplate(this.context.getBean(PlatformTransactionManager.class));
		template.setPropagationBehavior(propagation);
		return template;
	}

	/**
	 * As listeners of {@code TransactionPhase.BEFORE_COMMIT} do.
	 */
	static void beforeCommit(Runnable work) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void beforeCommit(boolean readOnly) {
				work.run();
			}

		});
	}

	private record FailingCallback(int order, RuntimeException failure) implements TransactionSynchronization {

		@Override
		public int getOrder() {
			return this.order;
		}

		@Override
		public void beforeCommit(boolean readOnly) {
			throw this.failure;
		}

	}

	static final class Unwritable {

		public Unwritable getSelf() {
			return this;
		}

	}

	/**
	 * Counts the calls of its order.
	 */
	private record Counted(AtomicInteger asked) implements TransactionSynchronization {

		@Override
		public int getOrder() {
			this.asked.incrementAndGet();
			return 0;
		}

	}

	/**
	 * Appends after the commit, before all other synchronizations.
	 */
	private static final class Refusals implements TransactionSynchronization {

		private final List<String> messages = new ArrayList<>();

		private final Runnable append;

		Refusals(Runnable append) {
			this.append = append;
		}

		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE;
		}

		@Override
		public void afterCommit() {
			tryIt();
		}

		@Override
		public void afterCompletion(int status) {
			tryIt();
		}

		private void tryIt() {
			assertThatExceptionOfType(OutboxTransactionException.class).isThrownBy(this.append::run)
				.satisfies((ex) -> this.messages.add(String.valueOf(ex.getMessage())));
		}

	}

}
