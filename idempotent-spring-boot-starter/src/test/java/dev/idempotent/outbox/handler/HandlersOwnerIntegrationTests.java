package dev.idempotent.outbox.handler;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxHandler;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The owner of handlers on PostgreSQL, where the user of an application lacks a right.
 */
class HandlersOwnerIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Test
	void refusesToStartWithHandlersIfTheTableIsDenied() {
		try (HikariDataSource pool = postgres.connect()) {
			JdbcTemplate admin = new JdbcTemplate(pool);
			admin.execute("create schema owners");
			application("shop", "postgres", "postgres").run((context) -> assertThat(context).hasNotFailed());
			admin.execute("create role depot login password 'depot'");
			admin.execute("grant usage on schema owners to depot");
			admin.execute("grant select, insert, update, delete on all tables in schema owners to depot");
			admin.execute("grant usage on all sequences in schema owners to depot");
			admin.execute("revoke all on owners.outbox_deployment from depot");
			try {
				application("depot", "depot", "depot").withPropertyValues("idempotent.outbox.initialize-schema=never")
					.run((context) -> assertThat(context).getFailure()
						.isInstanceOf(IdempotentConfigurationException.class)
						.hasMessageContaining("outbox_deployment, or denies access to it"));
			}
			finally {
				admin.execute("drop schema owners cascade");
				admin.execute("drop role depot");
			}
		}
	}

	private static ApplicationContextRunner application(String namespace, String user, String password) {
		return OutboxApplication.with(Bookings.class)
			.withPropertyValues("spring.datasource.generate-unique-name=false",
					"spring.datasource.url=" + postgres.url() + (postgres.url().contains("?") ? "&" : "?")
							+ "currentSchema=owners",
					"spring.datasource.username=" + user, "spring.datasource.password=" + password,
					"idempotent.namespace=" + namespace);
	}

	static class Bookings {

		@OutboxHandler(type = "order.placed", name = "book")
		void book(String order) {
		}

	}

}
