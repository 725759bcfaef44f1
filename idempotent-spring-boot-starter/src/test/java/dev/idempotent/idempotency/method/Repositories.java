package dev.idempotent.idempotency.method;

import dev.idempotent.idempotency.Idempotent;
import org.springframework.context.annotation.ComponentScan.Filter;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.FilterType;
import org.springframework.data.annotation.Id;
import org.springframework.data.map.repository.config.EnableMapRepositories;
import org.springframework.data.repository.Repository;
import org.springframework.data.repository.RepositoryDefinition;

/**
 * Applications with an annotated repository, which cannot be idempotent.
 */
final class Repositories {

	private Repositories() {
	}

	@Configuration(proxyBeanMethods = false)
	@EnableMapRepositories(considerNestedRepositories = true,
			includeFilters = @Filter(type = FilterType.ASSIGNABLE_TYPE, classes = Derived.Orders.class))
	static class Derived {

		interface Orders extends Repository<Repositories.Order, String> {

			@Idempotent(key = "#id", name = "orders.place")
			default String place(String id) {
				return id;
			}

		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableMapRepositories(considerNestedRepositories = true,
			includeFilters = @Filter(type = FilterType.ASSIGNABLE_TYPE, classes = Defined.Orders.class))
	static class Defined {

		@RepositoryDefinition(domainClass = Repositories.Order.class, idClass = String.class)
		interface Orders {

			@Idempotent(key = "#id", name = "defined-orders.place")
			default String place(String id) {
				return id;
			}

		}

	}

	record Order(@Id String id) {
	}

}
