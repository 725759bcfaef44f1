package dev.idempotent.autoconfigure.idempotency;

import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.autoconfigure.DeploymentTable;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.ConcurrentRuns;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a start remembers of the last one, on real servers.
 */
@ExtendWith(OutputCaptureExtension.class)
class LastStartReportIntegrationTests {

	private static final String FORGOTTEN = "Keys of the last release are forgotten";

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private final String prefix = "last-start-" + UUID.randomUUID() + ":";

	@Test
	void isInRedisWithoutADatabase(CapturedOutput output) {
		withRedis("shop", Billing.class, Shipping.class);
		withRedis("shop", Billing.class, Shipping.class);
		assertThat(output).doesNotContain(FORGOTTEN);
		withRedis("shop", Billing.class);
		assertThat(output).containsOnlyOnce(FORGOTTEN)
			.contains("there are no operations with the names [ship] any more");
		withRedis("shop", Billing.class);
		assertThat(output).containsOnlyOnce(FORGOTTEN);
		withRedis("store", Billing.class);
		assertThat(output).contains("the namespace of 'orders' was 'shop' and is now 'store'");
	}

	/**
	 * Also if each has a database of its own.
	 */
	@Test
	void tellsOnceThatAnotherApplicationHasTheNamespaceInRedis(CapturedOutput output) {
		for (String application : new String[] { "orders", "depot", "orders", "depot" }) {
			new ApplicationContextRunner()
				.withPropertyValues("spring.application.name=" + application, "idempotent.namespace=shop",
						"spring.data.redis.host=" + redis.host(), "spring.data.redis.port=" + redis.port(),
						"idempotent.redis.key-prefix=" + this.prefix, "idempotent.jdbc.initialize-schema=always",
						"spring.datasource.url=jdbc:h2:mem:" + application + this.hashCode() + ";DB_CLOSE_DELAY=-1",
						"spring.datasource.generate-unique-name=false", "idempotent.store=redis")
				.withUserConfiguration(Application.class, Billing.class)
				.run((context) -> assertThat(context).hasNotFailed());
		}
		assertThat(output).containsOnlyOnce("the namespace 'shop' was used by [orders] and is now used by 'depot'")
			.containsOnlyOnce("and is now used by")
			.doesNotContain(FORGOTTEN);
	}

	@Test
	void isWrittenByInstancesThatStartAtOnce() throws InterruptedException {
		HikariDataSource pool = postgres.connect();
		JdbcTemplate jdbc = new JdbcTemplate(pool);
		jdbc.execute("create table if not exists at_once_deployment (namespace varchar(255) not null, "
				+ "attribute varchar(100) not null, content varchar(1000) not null, primary key (namespace, attribute))");
		DeploymentTable table = new DeploymentTable(new OwnTransactions(pool), "at_once_");
		for (int i = 0; i < 20; i++) {
			String attribute = "attribute-" + i;
			ConcurrentRuns.of(4, (instance) -> {
				table.add("shop", attribute, "first");
				table.replace("shop", attribute, "first", "second");
				return table.read();
			});
			assertThat(table.read().get("shop")).containsEntry(attribute, "second");
		}
		jdbc.execute("drop table at_once_deployment");
	}

	private void withRedis(String namespace, Class<?>... operations) {
		new ApplicationContextRunner()
			.withPropertyValues("spring.application.name=orders", "idempotent.namespace=" + namespace,
					"spring.data.redis.host=" + redis.host(), "spring.data.redis.port=" + redis.port(),
					"idempotent.redis.key-prefix=" + this.prefix,
					"spring.autoconfigure.exclude=" + DataSourceAutoConfiguration.class.getName())
			.withUserConfiguration(Application.class)
			.withUserConfiguration(operations)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

	static class Billing {

		@Idempotent(key = "#id", name = "bill")
		public String bill(String id) {
			return id;
		}

	}

	static class Shipping {

		@Idempotent(key = "#id", name = "ship")
		public String ship(String id) {
			return id;
		}

	}

}
