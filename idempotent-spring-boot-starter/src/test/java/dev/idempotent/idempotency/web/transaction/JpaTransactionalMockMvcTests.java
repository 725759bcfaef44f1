package dev.idempotent.idempotency.web.transaction;

import dev.idempotent.idempotency.web.IdempotencyFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationPackage;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * On JPA's transaction manager, which has no savepoints.
 */
@SpringBootTest(classes = JpaTransactionalMockMvcTests.JpaShop.class,
		properties = { "idempotent.namespace=shop", "spring.datasource.generate-unique-name=true" })
class JpaTransactionalMockMvcTests extends TransactionalMockMvcRules {

	@Configuration(proxyBeanMethods = false)
	@AutoConfigurationPackage(basePackageClasses = IdempotencyFilter.class)
	@ImportAutoConfiguration(HibernateJpaAutoConfiguration.class)
	@Import(Shop.class)
	static class JpaShop {

	}

}
