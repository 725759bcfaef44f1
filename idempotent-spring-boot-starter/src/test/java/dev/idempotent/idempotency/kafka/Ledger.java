package dev.idempotent.idempotency.kafka;

import javax.sql.DataSource;

import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * What listeners have written in their transactions.
 */
public class Ledger {

	private final JdbcClient database;

	public Ledger(DataSource dataSource) {
		this.database = JdbcClient.create(dataSource);
		this.database.sql("create table if not exists ledger (entry varchar(100))").update();
	}

	public void add(String entry) {
		this.database.sql("insert into ledger values (?)").param(entry).update();
	}

	/**
	 * How often something was written and committed.
	 */
	public int count(String entry) {
		return this.database.sql("select count(*) from ledger where entry = ?")
			.param(entry)
			.query(Integer.class)
			.single();
	}

}
