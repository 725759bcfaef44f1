package dev.idempotent.outbox.crash;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.testing.RestartedApplication;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Appends events in transactions of several kinds. Each locks the counter of its key, and
 * records what it has appended.
 */
final class Writers {

	/**
	 * The first one is hot.
	 */
	static final int KEYS = 41;

	/**
	 * The type of all events.
	 */
	static final String TYPE = "crash.appended";

	/**
	 * The header with the position of an ordered event within its key, or 0.
	 */
	static final String NUMBER = "number";

	private static final int THREADS = 2;

	private final Storm storm;

	private final TransactionTemplate transactions;

	private final TransactionTemplate independent;

	private final JdbcClient database;

	private final Outbox outbox;

	private final String topic;

	private final boolean control;

	/**
	 * Creates writers.
	 * @param control whether they insert events before they lock the counter, too, which
	 * the audit must find
	 */
	Writers(Storm storm, PlatformTransactionManager manager, JdbcClient database, Outbox outbox, String topic,
			boolean control) {
		this.storm = storm;
		this.transactions = new TransactionTemplate(manager);
		this.independent = new TransactionTemplate(manager);
		this.independent.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		this.database = database;
		this.outbox = outbox;
		this.topic = topic;
		this.control = control;
	}

	/**
	 * Keeps the JVM alive, too.
	 */
	void start() {
		new Thread(() -> {
			List<Thread> threads = IntStream.range(0, THREADS).mapToObj((i) -> new Thread(this::write)).toList();
			threads.forEach(Thread::start);
			threads.forEach(Writers::join);
			RestartedApplication.reportIdle();
			join(Thread.currentThread());
		}, "writers").start();
	}

	private static void join(Thread thread) {
		try {
			thread.join();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void write() {
		while (this.storm.lasts()) {
			try {
				this.transactions.executeWithoutResult(this::writeWithin);
			}
			catch (RuntimeException ex) {
				RestartedApplication.report("transaction " + ex.getClass().getSimpleName());
			}
			this.storm.delay(50, 200);
		}
	}

	private void writeWithin(TransactionStatus status) {
		int key = (this.storm.random(6) == 0) ? 0 : this.storm.random(KEYS - 1);
		if (this.control) {
			beforeCommit(() -> appendBeforeLock("key-" + key));
			return;
		}
		switch (this.storm.random(10)) {
			case 0 -> {
				append(key);
				status.setRollbackOnly();
			}
			case 1 -> appendBesideSavepoint(key, status);
			case 2 -> {
				append(key);
				// A higher key, so that transactions cannot wait for each other.
				this.independent.executeWithoutResult((inner) -> append(key + 1));
				append(key);
			}
			case 3 -> {
				append(key);
				append(key + 1);
				append(key);
			}
			case 4 -> beforeCommit(() -> append(key));
			case 5 -> {
				append(key);
				beforeCommit(() -> this.storm.delay(1, 50));
			}
			default -> append(key);
		}
		if (this.storm.random(50) == 0) {
			throw new IllegalStateException("Rolled back");
		}
	}

	/**
	 * Runs when the events that were appended before have been inserted.
	 */
	private static void beforeCommit(Runnable step) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void beforeCommit(boolean readOnly) {
				step.run();
			}

		});
	}

	private void appendBesideSavepoint(int key, TransactionStatus status) {
		append(key);
		Object savepoint = status.createSavepoint();
		append(key);
		if (this.storm.random(2) == 0) {
			status.rollbackToSavepoint(savepoint);
		}
		status.releaseSavepoint(savepoint);
		append(key);
	}

	/**
	 * Appends the next events of a key, and sometimes one that nothing orders.
	 */
	private void append(int key) {
		String name = "key-" + key;
		int count = 1 + this.storm.random(3);
		int first = lock(name, count);
		for (int number = first; number < first + count; number++) {
			append(name, number);
		}
		if (this.storm.random(4) == 0) {
			append(name, 0);
		}
	}

	/**
	 * Locks the counter of a key.
	 * @return the first of the next numbers
	 */
	private int lock(String key, int count) {
		int last = this.database.sql("select number from crash_counter where id = ? for update")
			.param(key)
			.query(Integer.class)
			.single();
		this.database.sql("update crash_counter set number = number + ? where id = ?").param(count).param(key).update();
		return last + 1;
	}

	/**
	 * Appends an event whose number is not known yet, which inserts it at once during the
	 * commit.
	 */
	private void appendBeforeLock(String key) {
		String id = UUID.randomUUID().toString();
		this.outbox.append(OutboxEvent.of("early", id).toTopic(this.topic).withKey(key));
		this.storm.delay(1, 50);
		int number = lock(key, 1);
		this.database
			.sql("update outbox_event set type = ?, headers = ? where type = 'early' and event_key = ? and payload = ?")
			.params(TYPE, "{\"%s\":\"%d\",\"ce_time\":\"%s\"}".formatted(NUMBER, number, Instant.now()), key,
					('"' + id + '"').getBytes(StandardCharsets.UTF_8))
			.update();
		this.database.sql("insert into crash_event values (?, ?, ?)").params(id, key, number).update();
	}

	/**
	 * Appends an event.
	 * @param number the position of an ordered event within its key, or 0
	 */
	private void append(String key, int number) {
		String id = UUID.randomUUID().toString();
		this.database.sql("insert into crash_event values (?, ?, ?)").params(id, key, number).update();
		OutboxEvent event = OutboxEvent.of(TYPE, id)
			.toTopic(this.topic)
			.withKey(key)
			.withHeader(NUMBER, Integer.toString(number));
		this.outbox.append((number == 0) ? event.unordered() : event);
	}

}
