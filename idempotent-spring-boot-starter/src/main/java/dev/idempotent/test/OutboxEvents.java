package dev.idempotent.test;

import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The events that a test has appended, in this order: those of transactions that have
 * committed or still run, such as that of a {@code @Transactional} test. A rollback, also
 * to a savepoint, removes its events. Thread-safe.
 */
public final class OutboxEvents implements Iterable<OutboxEvent> {

	private final List<Appended> appended = new CopyOnWriteArrayList<>();

	/**
	 * Returns an outbox that records what it appends.
	 * @param outbox appends the events
	 * @return an outbox with the same effect
	 */
	public Outbox record(Outbox outbox) {
		return new RecordingOutbox(outbox);
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
	 * Forgets the events, as before each test.
	 */
	public void clear() {
		this.appended.clear();
	}

	private final class RecordingOutbox implements Outbox {

		private final Outbox outbox;

		private RecordingOutbox(Outbox outbox) {
			this.outbox = outbox;
		}

		@Override
		public void append(Collection<OutboxEvent> events) {
			this.outbox.append(events);
			Appended part = new Appended(List.copyOf(events));
			OutboxEvents.this.appended.add(part);
			TransactionSynchronizationManager.registerSynchronization(part);
		}

		@Override
		public void requireTransaction() {
			this.outbox.requireTransaction();
		}

	}

	/**
	 * The events of one append. Compared by identity.
	 */
	private final class Appended implements TransactionSynchronization {

		private final List<OutboxEvent> events;

		private final Set<Object> laterSavepoints = Collections.newSetFromMap(new IdentityHashMap<>());

		private Appended(List<OutboxEvent> events) {
			this.events = events;
		}

		@Override
		public void savepoint(Object savepoint) {
			this.laterSavepoints.add(savepoint);
		}

		@Override
		public void savepointRollback(Object savepoint) {
			if (!this.laterSavepoints.contains(savepoint)) {
				OutboxEvents.this.appended.remove(this);
			}
		}

		@Override
		public void afterCompletion(int status) {
			if (status != STATUS_COMMITTED) {
				OutboxEvents.this.appended.remove(this);
			}
		}

	}

}
