package dev.idempotent.outbox;

import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import java.util.stream.Stream;

import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxRow.Place;
import org.springframework.dao.PessimisticLockingFailureException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Events that many threads use concurrently, and the results that they got.
 */
public final class OutboxStorm {

	private final String publisher = "storm" + UUID.randomUUID();

	private final TestedOutboxStore tested;

	private final Set<UUID> committed = ConcurrentHashMap.newKeySet();

	private final Set<UUID> deletedAlone = ConcurrentHashMap.newKeySet();

	private final AtomicInteger deleted = new AtomicInteger();

	private final Queue<String> failures = new ConcurrentLinkedQueue<>();

	public OutboxStorm(TestedOutboxStore tested) {
		this.tested = tested;
	}

	TestedOutboxStore tested() {
		return this.tested;
	}

	String publisher() {
		return this.publisher;
	}

	void isCommitted(Collection<UUID> events) {
		this.committed.addAll(events);
	}

	void isDeleted(List<LeasedEvent> batch, int count) {
		this.deleted.addAndGet(count);
		if (batch.size() == 1 && count == 1) {
			assertThat(this.deletedAlone.add(batch.get(0).event().id())).as("deleted for the first time").isTrue();
		}
	}

	/**
	 * Takes a step that may fail with a conflict in the database.
	 * @return what the step returned, 0 if it was prevented
	 */
	int attempt(String verb, IntSupplier step) {
		try {
			return step.getAsInt();
		}
		catch (PessimisticLockingFailureException ex) {
			this.failures.add(verb + ": " + ex.getCause());
			return 0;
		}
	}

	/**
	 * The steps that have failed.
	 */
	public Collection<String> failures() {
		return this.failures;
	}

	/**
	 * Checks that each committed event is in exactly one table, and that there are no
	 * others.
	 */
	public void endsWithEachEventInExactlyOneTable() {
		List<UUID> kept = Stream.of(Place.values())
			.flatMap((place) -> this.tested.rows(place, this.publisher).stream())
			.map((row) -> row.event().id())
			.toList();
		assertThat(kept).doesNotHaveDuplicates();
		assertThat(this.committed).containsAll(kept);
		assertThat(this.deletedAlone).doesNotContainAnyElementsOf(kept).isSubsetOf(this.committed);
		assertThat(this.deleted).hasValue(this.committed.size() - kept.size());
	}

}
