package dev.idempotent.idempotency.web.transaction;

import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * On a JDBC transaction manager, which has savepoints.
 */
@SpringBootTest(classes = TransactionalMockMvcTests.JdbcShop.class,
		properties = { "idempotent.namespace=shop", "spring.datasource.generate-unique-name=true" })
class TransactionalMockMvcTests extends TransactionalMockMvcRules {

	@Test
	void doesNotSeeFailedWork() throws Exception {
		assertThat(post("/shop/missing").getStatus()).isEqualTo(404);
		assertThat(rows()).isZero();
		assertThat(post("/shop/missing").getHeader("Idempotent-Replayed")).isEqualTo("true");
		assertThat(post("/shop/missing").getStatus()).isEqualTo(404);
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(DataSourceTransactionManagerAutoConfiguration.class)
	@Import(Shop.class)
	static class JdbcShop {

	}

}
