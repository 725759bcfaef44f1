package dev.idempotent.aop;

import java.util.List;

import javax.sql.DataSource;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Reads committed data outside the transaction of the thread.
 */
public class Outside {

	private final JdbcClient database;

	Outside(DataSource dataSource) {
		// No key under which a transaction binds its connection.
		this.database = JdbcClient.create(new DelegatingDataSource(dataSource));
	}

	List<String> effects() {
		return this.database.sql("select what from effect").query(String.class).list();
	}

	int records() {
		return this.database.sql("select count(*) from idempotency_record").query(Integer.class).single();
	}

}
