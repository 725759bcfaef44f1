package dev.idempotent.idempotency.web.transaction;

import java.nio.charset.StandardCharsets;

import javax.sql.DataSource;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Work that inserts a row with the name in the request.
 */
@Component
class Works {

	private static final String SCHEMA = """
			create table if not exists work (name varchar(100) not null, item varchar(100) unique);
			""";

	private final DataSource dataSource;

	private final JdbcTemplate jdbc;

	Works(DataSource dataSource) {
		new ResourceDatabasePopulator(new ByteArrayResource(SCHEMA.getBytes(StandardCharsets.UTF_8)))
			.execute(dataSource);
		this.dataSource = dataSource;
		this.jdbc = new JdbcTemplate(dataSource);
	}

	void write(String name) {
		this.jdbc.update("insert into work (name) values (?)", name);
	}

	void writeItem(String name, String item) {
		this.jdbc.update("insert into work (name, item) values (?, ?)", name, item);
	}

	/**
	 * The remaining time of the transaction.
	 */
	int secondsLeft() {
		return ((ConnectionHolder) TransactionSynchronizationManager.getResource(this.dataSource))
			.getTimeToLiveInSeconds();
	}

	int count(String name) {
		return this.jdbc.queryForObject("select count(*) from work where name = ?", Integer.class, name);
	}

}
