package dev.idempotent.autoconfigure.outbox;

import javax.sql.DataSource;

import dev.idempotent.jdbc.TableSweeper;
import dev.idempotent.outbox.jdbc.JdbcDeadEvents;
import dev.idempotent.outbox.jdbc.JdbcOutboxReader;
import dev.idempotent.outbox.jdbc.OutboxTables;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/**
 * Lets operators see what the outbox does and deal with its dead events.
 */
@AutoConfiguration(after = OutboxAutoConfiguration.class)
@ConditionalOnBean(OutboxTables.class)
public final class OutboxOperationsAutoConfiguration {

	@Bean
	JdbcOutboxReader outboxReader(DataSource dataSource, OutboxTables tables) {
		return new JdbcOutboxReader(dataSource, tables);
	}

	@Bean
	JdbcDeadEvents outboxDeadEvents(DataSource dataSource, OutboxTables tables) {
		return new JdbcDeadEvents(dataSource, tables);
	}

	@Bean
	@ConditionalOnProperty("idempotent.outbox.dead-retention")
	TableSweeper outboxDeadEventSweeper(JdbcDeadEvents deadEvents, OutboxProperties properties) {
		TableSweeper sweeper = deadEvents.sweeper(properties.requireDeadRetention());
		sweeper.start();
		return sweeper;
	}

}
