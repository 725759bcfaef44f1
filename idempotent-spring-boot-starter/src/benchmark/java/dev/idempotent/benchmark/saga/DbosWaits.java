package dev.idempotent.benchmark.saga;

import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import dev.dbos.transact.DBOS;
import dev.dbos.transact.DBOSClient;
import dev.dbos.transact.StartWorkflowOptions;
import dev.dbos.transact.config.DBOSConfig;
import dev.dbos.transact.workflow.Workflow;
import dev.idempotent.benchmark.Application;
import dev.idempotent.benchmark.Database;
import org.awaitility.Awaitility;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;

/**
 * Workflows of DBOS Transact that wait in {@code recv}, and a client of it on a pool of
 * its own. Each keeps one of 100 threads (JDK 17): with as many, no other one begins.
 */
final class DbosWaits implements WaitContender {

	private static final String[] PROPERTIES = { "idempotent.enabled=false", "idempotent.outbox.enabled=false",
			"idempotent.saga.enabled=false" };

	private static final String TOPIC = "paid";

	private final String name;

	private final Store store;

	private final Application sender;

	private final DBOS dbos;

	private final DBOSClient client;

	private final Trips trips;

	private final Map<String, CompletableFuture<Long>> expected = new ConcurrentHashMap<>();

	/**
	 * Creates the applications.
	 * @param waiting how many workflows wait all the time
	 */
	DbosWaits(String name, Store.Servers servers, int waiting) {
		this.name = name;
		this.store = Store.open(name, servers, Empty.class, PROPERTIES);
		this.sender = this.store.another(Empty.class, PROPERTIES);
		this.dbos = new DBOS(DBOSConfig.defaults(name).withDataSource(this.store.bean(DataSource.class)));
		this.trips = this.dbos.registerProxy(Trips.class, new Agency(this.dbos, this.expected));
		this.dbos.launch();
		this.client = new DBOSClient(this.sender.bean(DataSource.class));
		for (int i = 0; i < waiting; i++) {
			start(UUID.randomUUID().toString());
		}
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public Database database() {
		return this.store.database();
	}

	@Override
	public Duration signal(boolean elsewhere) {
		String id = UUID.randomUUID().toString();
		CompletableFuture<Long> next = new CompletableFuture<>();
		this.expected.put(id, next);
		start(id);
		Awaitility.await().pollInterval(Duration.ofMillis(2)).until(() -> waits(id));
		WaitContender.pauseAtRandom();
		long sent = System.nanoTime();
		if (elsewhere) {
			this.client.send(id, 100, TOPIC, null);
		}
		else {
			this.dbos.send(id, 100, TOPIC);
		}
		return Duration.ofNanos(next.orTimeout(1, TimeUnit.MINUTES).join() - sent);
	}

	private void start(String id) {
		this.dbos.startWorkflow(() -> this.trips.book(id), new StartWorkflowOptions().withWorkflowId(id));
	}

	/**
	 * The end of the wait is recorded before it begins.
	 */
	private boolean waits(String id) {
		Integer recorded = this.store.jdbc()
			.queryForObject("select count(*) from dbos.operation_outputs where workflow_uuid = ?", Integer.class, id);
		return recorded != null && recorded > 0;
	}

	@Override
	public void close() {
		this.dbos.shutdown();
		this.sender.close();
		this.store.close();
	}

	/**
	 * The workflows.
	 */
	interface Trips {

		/**
		 * Waits for the payment, and confirms.
		 */
		void book(String id);

	}

	/**
	 * The implementation of the workflows.
	 */
	static final class Agency implements Trips {

		private final DBOS dbos;

		private final Map<String, CompletableFuture<Long>> expected;

		Agency(DBOS dbos, Map<String, CompletableFuture<Long>> expected) {
			this.dbos = dbos;
			this.expected = expected;
		}

		@Workflow(name = "book")
		@Override
		public void book(String id) {
			if (this.dbos.recv(TOPIC, Duration.ofDays(1)).isPresent()) {
				this.dbos.runStep(() -> {
					CompletableFuture<Long> next = this.expected.get(id);
					if (next != null) {
						next.complete(System.nanoTime());
					}
				}, "confirm");
			}
		}

	}

	@EnableAutoConfiguration
	@Configuration(proxyBeanMethods = false)
	static class Empty {

	}

}
