package dev.idempotent.test;

import java.util.Collection;
import java.util.List;
import java.util.stream.StreamSupport;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxTransactionException;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link OutboxEvents}.
 */
class OutboxEventsTests {

	private final JdbcTransactionManager manager = new JdbcTransactionManager(
			new DriverManagerDataSource("jdbc:h2:mem:outbox-events"));

	private final TransactionTemplate transaction = new TransactionTemplate(this.manager);

	private final TransactionTemplate nested = new TransactionTemplate(this.manager);

	private final OutboxEvents events = new OutboxEvents();

	private final Outbox outbox = this.events.record(new SomeOutbox());

	OutboxEventsTests() {
		this.nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
	}

	@Test
	void areThoseOfARunningAndOfACommittedTransaction() {
		this.transaction.executeWithoutResult((status) -> {
			append("one", "two");
			assertThat(types()).containsExactly("one", "two");
			append("three");
		});
		assertThat(types()).containsExactly("one", "two", "three");
	}

	@Test
	void areNotThoseOfATransactionThatWasRolledBack() {
		this.transaction.executeWithoutResult((status) -> append("kept"));
		this.transaction.executeWithoutResult((status) -> {
			append("lost");
			status.setRollbackOnly();
		});
		assertThat(types()).containsExactly("kept");
	}

	@Test
	void areNotThoseThatWereAppendedAfterASavepointThatWasRolledBackTo() {
		this.transaction.executeWithoutResult((status) -> {
			append("before");
			this.nested.executeWithoutResult((inner) -> append("inside and kept"));
			this.nested.executeWithoutResult((inner) -> {
				append("inside and lost");
				inner.setRollbackOnly();
			});
			append("after");
		});
		assertThat(types()).containsExactly("before", "inside and kept", "after");
	}

	@Test
	void areThoseOfAnInnerTransactionThatCommitsAlone() {
		TransactionTemplate own = new TransactionTemplate(this.manager);
		own.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		this.transaction.executeWithoutResult((status) -> {
			append("outer");
			own.executeWithoutResult((inner) -> append("inner"));
			status.setRollbackOnly();
		});
		assertThat(types()).containsExactly("inner");
	}

	@Test
	void areNotThoseThatTheOutboxRefuses() {
		assertThatExceptionOfType(IllegalArgumentException.class)
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> append("refused")));
		assertThat(types()).isEmpty();
	}

	@Test
	void havePayloadsOfEachClass() {
		this.transaction.executeWithoutResult((status) -> this.outbox.append(
				List.of(OutboxEvent.of("text", "one"), OutboxEvent.of("number", 2), OutboxEvent.of("text", "three"))));
		assertThat(this.events.payloads(String.class)).containsExactly("one", "three");
		assertThat(this.events.payloads(Number.class)).containsExactly(2);
	}

	@Test
	void canBeForgotten() {
		this.transaction.executeWithoutResult((status) -> append("one"));
		this.events.clear();
		assertThat(this.events).isEmpty();
	}

	private void append(String... types) {
		this.outbox.append(List.of(types).stream().map((type) -> OutboxEvent.of(type, "payload")).toList());
	}

	private List<String> types() {
		return StreamSupport.stream(this.events.spliterator(), false).map(OutboxEvent::type).toList();
	}

	/**
	 * Keeps nothing.
	 */
	private static final class SomeOutbox implements Outbox {

		@Override
		public void append(Collection<OutboxEvent> events) {
			if (events.stream().anyMatch((event) -> event.type().equals("refused"))) {
				throw new IllegalArgumentException("No publisher serves the topic");
			}
		}

		@Override
		public void requireTransaction() {
			throw new OutboxTransactionException("not called");
		}

	}

}
