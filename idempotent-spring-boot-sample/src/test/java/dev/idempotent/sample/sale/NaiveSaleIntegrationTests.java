package dev.idempotent.sample.sale;

import java.net.http.HttpResponse;

import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;

import static dev.idempotent.sample.sale.SaleClient.assertRefused;
import static dev.idempotent.sample.sale.SaleClient.isReplayed;
import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class NaiveSaleIntegrationTests {

	private final String key = ShopClient.newKey();

	private final SaleClient sale;

	private final JdbcClient jdbc;

	NaiveSaleIntegrationTests(@LocalServerPort int port, @Autowired JdbcClient jdbc) {
		this.sale = new SaleClient(new ShopClient(port));
		this.jdbc = jdbc;
	}

	@Test
	void sellsEachUnitOnce() {
		this.sale.open(1, 1);
		HttpResponse<String> bought = this.sale.buyNaively("ann", this.key);
		assertThat(bought.statusCode()).isEqualTo(201);
		assertThat(isReplayed(this.sale.buyNaively("ann", this.key))).isTrue();
		assertRefused(this.sale.buyNaively("bob", ShopClient.newKey()), 409, "sold-out");
		assertThat(ordersAndUnits()).isEqualTo("1 0");
	}

	@ParameterizedTest
	@CsvSource({ "fail=before-commit, 500", "fail=after-commit, 201" })
	void sellsOneUnitIfItFails(String chaos, int status) {
		this.sale.open(2, 1);
		assertThat(this.sale.buyNaively("ann", this.key, "X-Chaos", chaos).statusCode()).isEqualTo(status);
		assertThat(this.sale.buyNaively("ann", this.key).statusCode()).isEqualTo(201);
		assertThat(ordersAndUnits()).isEqualTo("1 1");
	}

	@Test
	void leavesTheStockOfTheFlashSaleAlone() {
		this.sale.open(1, 1);
		this.sale.buyNaively("ann", this.key);
		assertThat(this.sale.reserved("ann")).isNotEmpty();
	}

	private String ordersAndUnits() {
		return this.jdbc.sql("""
				select (select count(*) from orders where item = 'naive ' || s.item) || ' ' || stock
				from naive_stock s where item = ?
				""").param(this.sale.item()).query(String.class).single();
	}

}
