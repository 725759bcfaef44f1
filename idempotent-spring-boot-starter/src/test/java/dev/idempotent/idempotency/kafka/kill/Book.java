package dev.idempotent.idempotency.kafka.kill;

import javax.sql.DataSource;

import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * What consumers have done, and what was delivered to them, over all their lives.
 */
class Book {

	private final JdbcClient database;

	Book(DataSource dataSource) {
		this.database = JdbcClient.create(dataSource);
	}

	/**
	 * Opens an empty book.
	 */
	void open() {
		this.database.sql("drop table if exists kill_effect, kill_delivery").update();
		this.database.sql("create table kill_effect (event varchar(100))").update();
		this.database.sql("create table kill_delivery (event varchar(100), refused boolean)").update();
	}

	void effect(String event) {
		this.database.sql("insert into kill_effect values (?)").param(event).update();
	}

	/**
	 * Notes a delivery, or that it was refused.
	 */
	void delivery(String event, boolean refused) {
		this.database.sql("insert into kill_delivery values (?, ?)").param(event).param(refused).update();
	}

	/**
	 * How many events had an effect.
	 */
	int events() {
		return count("select count(distinct event) from kill_effect");
	}

	/**
	 * How many events had more than one.
	 */
	int doubled() {
		return count("select count(*) from (select event from kill_effect group by event having count(*) > 1) d");
	}

	int deliveries() {
		return count("select count(*) from kill_delivery where not refused");
	}

	int refusals() {
		return count("select count(*) from kill_delivery where refused");
	}

	private int count(String query) {
		return this.database.sql(query).query(Integer.class).single();
	}

}
