// Sends samples by the client of Prometheus: ADDRESS NAME PASSWORD COUNT. Prints "stored", or the error and its recoverability.
package main

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/golang/snappy"
	"github.com/prometheus/common/config"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/prompb"
	"github.com/prometheus/prometheus/storage/remote"
)

func main() {
	address, err := url.Parse(os.Args[1])
	check(err)
	count, err := strconv.Atoi(os.Args[4])
	check(err)
	http := config.DefaultHTTPClientConfig
	http.BasicAuth = &config.BasicAuth{Username: os.Args[2], Password: config.Secret(os.Args[3])}
	client, err := remote.NewWriteClient("test", &remote.ClientConfig{
		URL: &config.URL{URL: address}, Timeout: model.Duration(30 * time.Second), HTTPClientConfig: http,
	})
	check(err)
	body, err := request(count).Marshal()
	check(err)
	_, err = client.Store(context.Background(), snappy.Encode(nil, body), 0)
	if err == nil {
		fmt.Println("stored")
		return
	}
	_, isRecoverable := err.(remote.RecoverableError)
	fmt.Println(err, isRecoverable)
}

// Each series ends with a staleness marker.
func request(count int) *prompb.WriteRequest {
	first := time.Now().Add(-time.Hour).UnixMilli()
	request := &prompb.WriteRequest{}
	for at := 0; at < count; at++ {
		series := prompb.TimeSeries{Labels: []prompb.Label{
			{Name: "__name__", Value: "temperature_celsius"}, {Name: "instance", Value: "10.0.0.1:9100"}, {Name: "job", Value: "garden"},
		}}
		timeMs := first + int64(at)*1000
		series.Samples = []prompb.Sample{
			{Value: float64(at) / 1000, Timestamp: timeMs},
			{Value: math.Float64frombits(value.StaleNaN), Timestamp: timeMs + 1},
		}
		request.Timeseries = append(request.Timeseries, series)
	}
	return request
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
