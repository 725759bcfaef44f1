package dev.idempotent.outbox.handler;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.testing.RealPostgres;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.AutoConfigurationPackage;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The promises with a {@code JpaTransactionManager} on PostgreSQL.
 */
class PostgresJpaHandlerIntegrationTests extends AbstractHandlerTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Override
	List<String> database() {
		List<String> all = new ArrayList<>(postgres.properties());
		all.add("spring.jpa.hibernate.ddl-auto=update");
		all.add("spring.jpa.open-in-view=false");
		return all;
	}

	@Override
	HandlerShop open(List<Class<?>> more, String[] relay, String... properties) {
		List<Class<?>> all = new ArrayList<>(more);
		all.add(Entities.class);
		return super.open(all, relay, properties);
	}

	@Test
	void commitTheChangesOfEntitiesThatAreFlushedAtTheCommit() {
		HandlerShop shop = open(HandlerShop.OFTEN);
		assertThat(shop.bean(PlatformTransactionManager.class)).isInstanceOf(JpaTransactionManager.class);
		shop.jdbc().update("delete from handler_booking");
		EntityManager entities = shop.bean(EntityManager.class);
		AtomicInteger calls = new AtomicInteger();
		shop.handlers().whenBooking((id) -> {
			entities.persist(new Booking(id));
			if (calls.incrementAndGet() < 3) {
				// Found by the database, not before the flush.
				entities.persist(new Booking("taken"));
			}
		});
		shop.jdbc().update("insert into handler_booking values ('taken')");
		shop.append(HandlerShop.event("order.placed", "1"));
		awaitNoRows(shop);
		assertThat(calls).hasValue(3);
		assertThat(shop.work("book")).containsExactly("1");
		assertThat(shop.jdbc().queryForList("select id from handler_booking order by id", String.class))
			.containsExactly("1", "taken");
	}

	@Configuration(proxyBeanMethods = false)
	@AutoConfigurationPackage
	@ImportAutoConfiguration(HibernateJpaAutoConfiguration.class)
	static class Entities {

	}

	@Entity(name = "handler_booking")
	static class Booking {

		@Id
		@SuppressWarnings("NullAway.Init")
		private String id;

		protected Booking() {
		}

		Booking(String id) {
			this.id = id;
		}

	}

}
