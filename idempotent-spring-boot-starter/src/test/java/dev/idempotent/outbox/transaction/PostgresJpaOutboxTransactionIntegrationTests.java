package dev.idempotent.outbox.transaction;

import java.util.ArrayList;
import java.util.List;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.testing.RealPostgres;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityListeners;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.PreUpdate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.AutoConfigurationPackage;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The promises with a {@code JpaTransactionManager} on PostgreSQL.
 */
class PostgresJpaOutboxTransactionIntegrationTests extends AbstractOutboxTransactionTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Override
	ConfigurableApplicationContext start(List<String> properties) {
		List<String> all = new ArrayList<>(properties);
		all.addAll(postgres.properties());
		all.add("spring.jpa.hibernate.ddl-auto=create");
		all.add("spring.jpa.open-in-view=false");
		return OutboxApplication.start(all, Entities.class);
	}

	@Test
	void usesAJpaTransactionManager() {
		assertThat(context().getBean(PlatformTransactionManager.class)).isInstanceOf(JpaTransactionManager.class);
	}

	@Test
	void keepsTheEventsOfEntitiesThatAreFlushedAtTheCommit() {
		EntityManager entities = context().getBean(EntityManager.class);
		inTransaction((outbox) -> entities.persist(new Parcel("p-1")));
		inTransaction((outbox) -> {
			append("early");
			entities.find(Parcel.class, "p-1").move("depot");
		});
		assertThat(events()).containsExactly("early", "parcel.moved");
		inTransaction((outbox) -> entities.remove(entities.find(Parcel.class, "p-1")));
	}

	@Test
	void keepsTheEventsOfEntitiesThatAreFlushedBeforeTheCommit() {
		EntityManager entities = context().getBean(EntityManager.class);
		inTransaction((outbox) -> entities.persist(new Parcel("p-2")));
		inTransaction((outbox) -> {
			entities.find(Parcel.class, "p-2").move("depot");
			entities.flush();
			append("after");
		});
		assertThat(events()).containsExactly("parcel.moved", "after");
		inTransaction((outbox) -> entities.remove(entities.find(Parcel.class, "p-2")));
	}

	@Configuration(proxyBeanMethods = false)
	@AutoConfigurationPackage
	@ImportAutoConfiguration(HibernateJpaAutoConfiguration.class)
	static class Entities {

	}

	@Entity(name = "Parcel")
	@EntityListeners(Movements.class)
	static class Parcel {

		@Id
		@SuppressWarnings("NullAway.Init")
		private String id;

		private String place = "sender";

		protected Parcel() {
		}

		Parcel(String id) {
			this.id = id;
		}

		void move(String place) {
			this.place = place;
		}

	}

	/**
	 * A listener that is a bean of the application.
	 */
	static class Movements {

		private final Outbox outbox;

		Movements(Outbox outbox) {
			this.outbox = outbox;
		}

		@PreUpdate
		void moved(Parcel parcel) {
			this.outbox.append(OutboxEvent.of("parcel.moved", parcel.place));
		}

	}

}
