package dev.idempotent.idempotency.web.transaction;

import dev.idempotent.idempotency.web.IdempotencyFilter;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurationPackage;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of an application with MockMvc that roll back their transaction.
 */
class TransactionalMockMvcTests {

	/**
	 * On a JDBC transaction manager, which has savepoints.
	 */
	@Nested
	@SpringBootTest(classes = TransactionalMockMvcTests.OnJdbc.JdbcShop.class,
			properties = { "idempotent.namespace=shop", "spring.datasource.generate-unique-name=true" })
	class OnJdbc extends AbstractTransactionalMockMvcTests {

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

	/**
	 * On JPA's transaction manager, which has no savepoints.
	 */
	@Nested
	@SpringBootTest(classes = TransactionalMockMvcTests.OnJpa.JpaShop.class,
			properties = { "idempotent.namespace=shop", "spring.datasource.generate-unique-name=true" })
	class OnJpa extends AbstractTransactionalMockMvcTests {

		@Configuration(proxyBeanMethods = false)
		@AutoConfigurationPackage(basePackageClasses = IdempotencyFilter.class)
		@ImportAutoConfiguration(HibernateJpaAutoConfiguration.class)
		@Import(Shop.class)
		static class JpaShop {

		}

	}

}
