package dev.idempotent.idempotency.method;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * The effects of the methods of a test: how often they ran, and what was committed.
 */
public class Effects {

	private final JdbcClient database;

	private final AtomicInteger runs = new AtomicInteger();

	Effects(JdbcClient database) {
		this.database = database;
	}

	/**
	 * Does something and numbers the run.
	 */
	public int add(String what) {
		this.database.sql("insert into effect values (?)").param(what).update();
		return this.runs.incrementAndGet();
	}

	public int runs() {
		return this.runs.get();
	}

	/**
	 * Forgets what was done so far.
	 */
	public void reset() {
		this.runs.set(0);
		this.database.sql("delete from effect").update();
		this.database.sql("delete from idempotency_record").update();
	}

	/**
	 * What was committed.
	 */
	public List<String> committed() {
		return this.database.sql("select what from effect").query(String.class).list();
	}

	public int records() {
		return this.database.sql("select count(*) from idempotency_record").query(Integer.class).single();
	}

}
