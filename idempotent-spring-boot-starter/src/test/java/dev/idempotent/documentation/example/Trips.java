package dev.idempotent.documentation.example;

import java.time.Duration;

import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Orders trips, which are paid later.
 */
class Trips {

	private final SagaSteps saga;

	private final JdbcClient jdbc;

	Trips(SagaSteps saga, JdbcClient jdbc) {
		this.saga = saga;
		this.jdbc = jdbc;
	}

	@Saga(name = "trip", key = "#trip", timeout = "7d")
	public String order(String trip) {
		this.saga.step("order").compensate(() -> book(trip, -1)).runInTransaction(() -> book(trip, 1));
		int amount = this.saga.await("paid", Integer.class).within(Duration.ofDays(3));
		this.saga.sleep("cooling-off", Duration.ofDays(1));
		return trip + " for " + amount;
	}

	private void book(String trip, int seats) {
		this.jdbc.sql("insert into orders (item, amount) values (?, ?)").params(trip, seats).update();
	}

}
