package dev.idempotent.test;

import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntSupplier;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.transaction.End;
import dev.idempotent.transaction.ObservedTransaction;
import dev.idempotent.transaction.TransactionParticipant;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The events that a test has appended, in this order, in transactions that have committed
 * or still run, such as the transaction of a {@code @Transactional} test. A rollback,
 * also to a savepoint, removes its events. Thread-safe.
 */
public final class OutboxEvents implements Iterable<OutboxEvent> {

	private final List<Appended> appended = new CopyOnWriteArrayList<>();

	private final IntSupplier handlers;

	/**
	 * Creates a recorder of an application without handlers.
	 */
	public OutboxEvents() {
		this(() -> 0);
	}

	/**
	 * Creates a recorder.
	 * @param handlers handles all events that are due, and returns how many there were
	 */
	public OutboxEvents(IntSupplier handlers) {
		this.handlers = handlers;
	}

	/**
	 * Returns an outbox that records what it appends.
	 * @param outbox appends the events
	 * @return an outbox with the same effect
	 */
	public Outbox record(Outbox outbox) {
		return new Outbox() {

			@Override
			public void append(Collection<OutboxEvent> events) {
				outbox.append(events);
				Appended part = new Appended(List.copyOf(events));
				OutboxEvents.this.appended.add(part);
				Objects.requireNonNull(ObservedTransaction.current()).add(part, null);
			}

			@Override
			public void requireTransaction() {
				outbox.requireTransaction();
			}

		};
	}

	@Override
	public Iterator<OutboxEvent> iterator() {
		return this.appended.stream().flatMap((part) -> part.events.stream()).iterator();
	}

	/**
	 * The payloads of a class, as the application has appended them.
	 * @param <T> the class
	 * @param type the class
	 * @return the payloads of the events of this class, in their order
	 */
	public <T> List<T> payloads(Class<T> type) {
		return this.appended.stream()
			.flatMap((part) -> part.events.stream())
			.map(OutboxEvent::payload)
			.filter(type::isInstance)
			.map(type::cast)
			.toList();
	}

	/**
	 * Calls the {@code @OutboxHandler} methods with the events that have been committed
	 * and are due, and with those that they append themselves: on the calling thread, one
	 * after the other, in the order in which the events were appended. The relay must not
	 * run.
	 * @return how many events were handled
	 * @throws IllegalStateException if a handler has failed, with its exception as the
	 * cause, or the calling thread has a transaction, such as the transaction of a
	 * {@code @Transactional} test
	 */
	public int runHandlers() {
		if (TransactionSynchronizationManager.isActualTransactionActive()) {
			throw new IllegalStateException("Events are handled after their commit, and the transaction of this thread "
					+ "is open: call TestTransaction.flagForCommit() and end(), or do not make the test @Transactional");
		}
		return this.handlers.getAsInt();
	}

	/**
	 * Forgets the events, as before each test.
	 */
	public void clear() {
		this.appended.clear();
	}

	/**
	 * The events of one append. Compared by identity.
	 */
	private final class Appended implements TransactionParticipant {

		private final List<OutboxEvent> events;

		private Appended(List<OutboxEvent> events) {
			this.events = events;
		}

		@Override
		public Runnable savepoint() {
			return () -> {
			};
		}

		@Override
		public void undone() {
			OutboxEvents.this.appended.remove(this);
		}

		@Override
		public void ended(End end) {
			if (end != End.COMMITTED) {
				OutboxEvents.this.appended.remove(this);
			}
		}

	}

}
