package dev.idempotent.idempotency.method;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.function.Consumer;

import com.fasterxml.jackson.annotation.JsonBackReference;
import com.fasterxml.jackson.annotation.JsonManagedReference;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import jakarta.persistence.CascadeType;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.OneToMany;
import jakarta.persistence.Table;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.domain.AbstractAggregateRoot;
import org.springframework.data.domain.Persistable;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Domain models are results as they are.
 */
@SuppressWarnings("JavaUtilDate")
class DomainResultsTests {

	@Test
	void areReplayedWithWhatTheyCompute() {
		run((shop) -> {
			assertThat(shop.invoice("1").getTotal()).isEqualTo(BigDecimal.TEN);
			assertThat(shop.invoice("1").getTotal()).isEqualTo(BigDecimal.TEN);
			assertThat(shop.invoiceUnderALease("1").getTotal()).isEqualTo(BigDecimal.TEN);
			assertThat(shop.invoiceUnderALease("1").getTotal()).isEqualTo(BigDecimal.TEN);
			assertThat(shop.basket("1")).isEqualTo(shop.basket("1"));
		}, 3);
	}

	@Test
	void areReplayedAsEntities() {
		run((shop) -> {
			shop.seat("1");
			assertThat(shop.seat("1").getId()).isEqualTo("1");
			shop.order("1");
			Order order = shop.order("1");
			assertThat(order.lines).singleElement().satisfies((line) -> assertThat(line.order).isSameAs(order));
		}, 2);
	}

	@Test
	void areReplayedWithoutWhatIsTransient() {
		run((shop) -> {
			shop.booking("1");
			assertThat(shop.booking("1").id).isEqualTo("1");
		}, 1);
	}

	@Test
	void areReplayedThoughTheyHaveNoMembers() {
		run((shop) -> assertThat(shop.acknowledge("1")).hasSameClassAs(shop.acknowledge("1")), 1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "spring.jackson.date-format=yyyy-MM-dd HH:mm:ss",
			"spring.jackson.serialization.wrap-root-value=true", "spring.jackson.default-property-inclusion=non_empty",
			"spring.jackson.deserialization.fail-on-unknown-properties=true" })
	void areReplayedWhateverTheApplicationHasSetForItsClients(String property) {
		run((shop) -> {
			assertThat(shop.due("1")).isEqualTo(shop.due("1"));
			assertThat(shop.basket("1")).isEqualTo(shop.basket("1"));
		}, 2, property);
	}

	private static void run(Consumer<Shop> test, int runs, String... properties) {
		MethodApplication.with(Entities.class, Shop.class)
			.withConfiguration(
					AutoConfigurations.of(HibernateJpaAutoConfiguration.class, JacksonAutoConfiguration.class))
			.withPropertyValues("spring.jpa.hibernate.ddl-auto=create")
			.withPropertyValues(properties)
			.run((context) -> {
				Shop shop = context.getBean(Shop.class);
				test.accept(shop);
				assertThat(shop.runs()).isEqualTo(runs);
			});
	}

	@Configuration(proxyBeanMethods = false)
	@EntityScan(basePackageClasses = DomainResultsTests.class)
	static class Entities {

	}

	record Due(Date at) {
	}

	static class Invoice {

		private List<BigDecimal> amounts = new ArrayList<>();

		public List<BigDecimal> getAmounts() {
			return this.amounts;
		}

		public void setAmounts(List<BigDecimal> amounts) {
			this.amounts = amounts;
		}

		public BigDecimal getTotal() {
			return this.amounts.stream().reduce(BigDecimal.ZERO, BigDecimal::add);
		}

	}

	record Basket(List<String> items) {

		public boolean isEmpty() {
			return this.items.isEmpty();
		}

	}

	static class Ack {

	}

	static class Booking extends AbstractAggregateRoot<Booking> {

		public String id = "";

		Booking made() {
			return andEvent("made");
		}

	}

	@Entity(name = "PersistableOfTheTest")
	static class Seat implements Persistable<String> {

		@Id
		private String id = "";

		@Override
		public String getId() {
			return this.id;
		}

		public void setId(String id) {
			this.id = id;
		}

		@Override
		public boolean isNew() {
			return true;
		}

	}

	@Entity(name = "OrderOfTheTest")
	@Table(name = "order_of_the_test")
	static class Order {

		@Id
		public String id = "";

		@OneToMany(mappedBy = "order", cascade = CascadeType.ALL)
		@JsonManagedReference
		public List<Line> lines = new ArrayList<>();

	}

	@Entity(name = "LineOfTheTest")
	static class Line {

		@Id
		public String id = "";

		@ManyToOne
		@JsonBackReference
		public @Nullable Order order;

	}

	static class Shop {

		private final EntityManager entities;

		private int runs;

		Shop(EntityManager entities) {
			this.entities = entities;
		}

		public int runs() {
			return this.runs;
		}

		@Transactional
		@Idempotent(name = "invoice", key = "#id", guarantee = Guarantee.TRANSACTION)
		public Invoice invoice(String id) {
			this.runs++;
			Invoice invoice = new Invoice();
			invoice.getAmounts().add(BigDecimal.TEN);
			return invoice;
		}

		@Idempotent(name = "invoice-under-a-lease", key = "#id")
		public Invoice invoiceUnderALease(String id) {
			return invoice(id);
		}

		@Transactional
		@Idempotent(name = "basket", key = "#id", guarantee = Guarantee.TRANSACTION)
		public Basket basket(String id) {
			this.runs++;
			return new Basket(List.of(id));
		}

		@Transactional
		@Idempotent(name = "seat", key = "#id", guarantee = Guarantee.TRANSACTION)
		public Seat seat(String id) {
			this.runs++;
			Seat seat = new Seat();
			seat.setId(id);
			this.entities.persist(seat);
			return seat;
		}

		@Transactional
		@Idempotent(name = "order", key = "#id", guarantee = Guarantee.TRANSACTION)
		public Order order(String id) {
			this.runs++;
			Order order = new Order();
			order.id = id;
			Line line = new Line();
			line.id = id;
			line.order = order;
			order.lines.add(line);
			this.entities.persist(order);
			return order;
		}

		@Transactional
		@Idempotent(name = "booking", key = "#id", guarantee = Guarantee.TRANSACTION)
		public Booking booking(String id) {
			this.runs++;
			Booking booking = new Booking();
			booking.id = id;
			return booking.made();
		}

		@Transactional
		@Idempotent(name = "acknowledge", key = "#id", guarantee = Guarantee.TRANSACTION)
		public Ack acknowledge(String id) {
			this.runs++;
			return new Ack();
		}

		@Transactional
		@Idempotent(name = "due", key = "#id", guarantee = Guarantee.TRANSACTION)
		public Due due(String id) {
			this.runs++;
			return new Due(new Date(1_700_000_000_123L));
		}

	}

}
