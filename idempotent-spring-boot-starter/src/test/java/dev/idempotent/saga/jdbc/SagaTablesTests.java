package dev.idempotent.saga.jdbc;

import java.time.Duration;
import java.util.UUID;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Tests for the check of the tables at startup, and for their names.
 */
class SagaTablesTests {

	private final DataSource dataSource = new DriverManagerDataSource(
			"jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");

	@Test
	void acceptsTheTablesOfTheScript() {
		SagaRows.create(this.dataSource, "h2", "saga_");
		assertThatNoException().isThrownBy(store("saga_")::verify);
	}

	@Test
	void acceptsTablesInASchema() {
		new JdbcTemplate(this.dataSource).execute("create schema app");
		SagaRows.create(this.dataSource, "h2", "app.flow_");
		assertThatNoException().isThrownBy(store("app.flow_")::verify);
		assertThatExceptionOfType(IdempotentConfigurationException.class).isThrownBy(store("flow_")::verify);
	}

	@Test
	void reportsAMissingTableAndItsScript() {
		assertThatExceptionOfType(IdempotentConfigurationException.class).isThrownBy(store("saga_")::verify)
			.withMessageContaining("saga_instance")
			.satisfies((ex) -> assertThat(ex.getAction()).contains("dev/idempotent/schema/h2/saga.sql"));
	}

	@Test
	void reportsMissingColumns() {
		SagaRows.create(this.dataSource, "h2", "saga_");
		new JdbcTemplate(this.dataSource).execute("alter table saga_step drop column note");
		assertThatExceptionOfType(IdempotentConfigurationException.class).isThrownBy(store("saga_")::verify)
			.withMessageContaining("saga_step")
			.withMessageContaining("note");
	}

	@Test
	void rejectsADataSourceThatRoutesToSeveralDatabases() {
		AbstractRoutingDataSource router = new AbstractRoutingDataSource() {

			@Override
			protected Object determineCurrentLookupKey() {
				return "tenant";
			}

		};
		assertThatExceptionOfType(IdempotentConfigurationException.class)
			.isThrownBy(new JdbcSagaStore(new OwnTransactions(router), "saga_", Duration.ofSeconds(1),
					Duration.ofMinutes(10))::verify)
			.withMessageContaining("routes to several databases");
	}

	@Test
	void rejectsAPrefixThatIsNotAName() {
		assertThatIllegalArgumentException().isThrownBy(() -> new SagaTables("saga; drop table"));
	}

	private JdbcSagaStore store(String prefix) {
		return new JdbcSagaStore(new OwnTransactions(this.dataSource), prefix, Duration.ofSeconds(1),
				Duration.ofMinutes(10));
	}

}
